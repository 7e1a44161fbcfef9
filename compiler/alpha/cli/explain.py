"""`alpha explain`: the page of a code, or the derivation of a demand."""

from __future__ import annotations

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.argument("subject", metavar="CODE-or-DEMAND", required=False)
@click.option("--why", metavar="PAIRING", help="Show how this demand arises in a build.")
@click.option("--target", metavar="NAME", help="With --why: the target, as for build.")
@click.option("--direct", is_flag=True, help="With --why: the direct lane.")
@format_option
def explain(
    subject: str | None, why: str | None, target: str | None, direct: bool, form: str
) -> int:
    """Explain a diagnostic code, or a demand of a build.

    Without an argument: the list of all codes. With --why, the tree from which a demand's amount follows.
    """
    output = Output(form)
    if why is not None:
        if subject is None:
            raise click.UsageError("--why needs the name of a demand")
        return _why(subject, why, target, direct, output)
    if subject is None:
        return _list(output)
    return _page(subject, output)


def _list(output: Output) -> int:
    from alpha.diagnostics.codes import TITLES

    if output.format == "text":
        output.data("".join(f"{code}  {title}\n" for code, title in TITLES.items()))
        return 0
    import json

    for code, title in TITLES.items():
        output.data(json.dumps({"code": code, "title": title}) + "\n")
    return 0


def _page(subject: str, output: Output) -> int:
    from alpha.diagnostics.closest import did_you_mean
    from alpha.diagnostics.codes import TITLES
    from alpha.diagnostics.pages import load_page
    from alpha.driver.demands import EXPLANATIONS

    code = subject.upper()
    if subject in EXPLANATIONS:
        text = f"# {subject}\n\n{EXPLANATIONS[subject]}\n"
    elif code in TITLES:
        page = load_page(code)
        text = page.text if page else _without_page(code)
    else:
        guess = did_you_mean(subject, [*TITLES, *EXPLANATIONS])
        raise click.UsageError(
            f"`{subject}` is no diagnostic code and no demand" + (f"; {guess}" if guess else "")
        )
    if output.format == "text":
        output.data(text)
    else:
        import json

        output.data(json.dumps({"subject": subject, "text": text}, ensure_ascii=False) + "\n")
    return 0


def _without_page(code: str) -> str:
    """Of a code whose construct is not in this version yet, or whose message says everything."""
    from alpha.diagnostics.codes import TITLES, status_of

    status = status_of(code)
    ends = f"A command that reports it ends with status {status}" if status else "It is a warning"
    return f"# {code}: {TITLES[code]}\n\nThis version has no page for this code. {ends}.\n"


def _why(demand: str, name: str, target: str | None, direct: bool, output: Output) -> int:
    from alpha.admission.compare import compare
    from alpha.admission.report import why
    from alpha.diagnostics.closest import did_you_mean
    from alpha.driver.packages import current_folder
    from alpha.driver.pipeline import planned
    from alpha.driver.request import Request
    from alpha.driver.session import Session

    with Session.open(current_folder()) as session:

        def work() -> int:
            build = planned(session, Request(name, target, direct))
            rows = compare(build.plan.demands, build.profile.supplies)
            for row in rows:
                if row.demand.name == demand:
                    output.data(why(row))
                    return 0
            names = [row.demand.name for row in rows]
            guess = did_you_mean(demand, names)
            raise click.UsageError(
                f"this build has no demand `{demand}`; it has {', '.join(names)}"
                + (f"; {guess}" if guess else "")
            )

        return output.attempt(session.diagnostics, work)
