"""The direct lane of processors."""

from alpha.kernel.direct import TEMPLATES
from alpha.kernel.direct.contraction import arrangement
from alpha.kernel.direct.movement import broadcast, copy_kernel
from alpha.kernel.lane import Lane

DIRECT = Lane("direct", TEMPLATES, broadcast, copy_kernel, arrangement)
