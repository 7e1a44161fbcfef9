/* Trains two handles in turn, one in memory of its own and one in memory that the library maps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

static float image[DIGITS_BATCH_IMAGE];
static int32_t label[DIGITS_BATCH_LABEL];

static int expect(int condition, const char *what) {
    if (!condition)
        fprintf(stderr, "%s\n", what);
    return condition ? 0 : 1;
}

int main(int argc, char **argv) {
    struct digits_batch batch;
    digits *given = NULL, *own = NULL;
    float loss[2], metrics[DIGITS_METRICS];
    char *room = (char *)malloc((size_t)digits_bytes() + 64);
    char *memory = room + (64 - (size_t)room % 64);
    FILE *images = fopen("images", "rb"), *labels = fopen("labels", "rb");
    int step, wrong = 0;

    memset(room, 0xAA, (size_t)digits_bytes() + 64);
    batch.image = image;
    batch.label = label;
    wrong += expect(argc == 2 && images && labels, "how it is called");
    wrong += expect(digits_ABI == DIGITS_ABI, "version");
    wrong += expect(digits_open(NULL, NULL) == 2, "open without a place");
    wrong += expect(digits_open(&own, memory + 1) == 2 && !own, "open in memory that is not aligned");
    wrong += expect(digits_step(NULL, &batch, loss) == 2, "step without a handle");
    wrong += expect(strstr(digits_error(NULL), "there is no handle") != NULL, "words without a handle");
    if (wrong || digits_open(&given, memory) || digits_open(&own, NULL))
        return 1;
    wrong += expect((char *)given == memory, "the handle is the memory");
    for (step = 0; step < atoi(argv[1]); step++) {
        if (fread(image, sizeof image, 1, images) != 1 || fread(label, sizeof label, 1, labels) != 1)
            return 1;
        if (digits_step(given, &batch, loss) || digits_step(own, &batch, loss + 1))
            return 1;
        wrong += expect(memcmp(loss, loss + 1, sizeof *loss) == 0, "equal losses");
    }
    wrong += expect(digits_step(own, NULL, loss) == 2, "step without a batch");
    batch.image = NULL;
    wrong += expect(digits_step(own, &batch, loss) == 2, "step without a field");
    wrong += expect(strcmp(digits_error(own), "error: the pointer of `image` is null") == 0, digits_error(own));
    batch.image = image;
    wrong += expect(digits_evaluate(own, &batch, metrics) == 0, "evaluate");
    wrong += expect(digits_error(own)[0] == 0, "no words behind a call that was done");
    wrong += expect(digits_save(given, "given") == 0 && digits_save(own, "own") == 0, "save");
    digits_close(given);
    wrong += expect(digits_step(given, &batch, loss) == 2, "step behind the end");
    digits_close(own);
    digits_close(NULL);
    free(room);
    fclose(images);
    fclose(labels);
    if (!wrong)
        puts("trained");
    return wrong;
}
