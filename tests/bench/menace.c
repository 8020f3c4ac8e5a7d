/* Trains MENACE in C, for comparison with the speed of the compiled Python kernel.
 *
 *     cc -O3 -o menace menace.c && ./menace TABLES GAMES
 *
 * tests/bench/c_program.py writes the file TABLES: the machine's boxes, the opponent's replies, the rule and the random
 * state, as integers in text. The algorithm is that of beadbox/kernels/box_learning.py for a machine that resigns at
 * an empty box, or refills it. Each choice takes one random word. Beads, draws and totals change after every game. A
 * game in which positions can repeat stops at the ply limit, and each visit to a box counts.
 *
 * The program prints the processor seconds of the games, then all that was learnt, so that both can be compared.
 */

#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIN, DRAW, LOSS };
enum { MAX_VISITS = 512 }; /* at least the ply limit of any game */

/* A target from 0 to n_boxes-1 is a box, n_boxes + node is a position of the opponent, and -1, -2, -3 are a win, a
 * draw and a loss. */
static int32_t n_boxes, n_slots, n_nodes, n_replies, start;
static int32_t start_plies, limit, endless; /* 0 means no limit. A game that stops there has the result endless. */
static int32_t reward[3], min_beads, max_beads;
static int32_t *slot_indptr, *slot_box, *slot_target, *refills, *initial, *reply_indptr, *reply_target;
static int32_t *slot_plies, *reply_plies;
static int32_t *beads;
static int64_t *draws, *totals;
static int64_t tally[3];
static uint64_t state[2];

static inline uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

/* xoroshiro128++ 1.0 (Blackman and Vigna, public domain). */
static inline uint64_t next_word(uint64_t *a, uint64_t *b)
{
    uint64_t x = *a, y = *b;
    uint64_t word = rotate(x + y, 17) + x;
    y ^= x;
    *a = rotate(x, 49) ^ y ^ (y << 21);
    *b = rotate(y, 28);
    return word;
}

static inline int64_t below(uint64_t word, int64_t n) { return (int64_t)(((word >> 32) * (uint64_t)n) >> 32); }

/* In each call has_limit is a constant, so that the compiler makes one loop with a limit and one without. */
static inline void train(int64_t n_games, int has_limit)
{
    uint64_t a = state[0], b = state[1];
    for (int64_t game = 0; game < n_games; game++) {
        int32_t path[MAX_VISITS];
        int n_visits = 0, result = LOSS;
        int32_t target = start, n_plies = start_plies;
        for (;;) {
            if (has_limit && (n_plies > limit || (n_plies == limit && target >= 0))) {
                result = endless;
                break;
            }
            if (target >= n_boxes) {
                int32_t node = target - n_boxes;
                int32_t first = reply_indptr[node];
                int64_t reply = first + below(next_word(&a, &b), reply_indptr[node + 1] - first);
                target = reply_target[reply];
                if (has_limit)
                    n_plies += reply_plies[reply];
            } else if (target >= 0) {
                int32_t slot = slot_indptr[target];
                int64_t total = totals[target];
                if (total == 0) {
                    if (!refills[target])
                        break; /* The machine resigns, which is a loss. */
                    for (int32_t s = slot; s < slot_indptr[target + 1]; s++) {
                        beads[s] = initial[s];
                        total += initial[s];
                    }
                    totals[target] = total;
                }
                int64_t ticket = below(next_word(&a, &b), total);
                while (ticket >= beads[slot])
                    ticket -= beads[slot++];
                path[n_visits++] = slot;
                target = slot_target[slot];
                if (has_limit)
                    n_plies += slot_plies[slot];
            } else {
                result = -1 - target;
                break;
            }
        }
        tally[result]++;
        for (int visit = 0; visit < n_visits; visit++) {
            int32_t slot = path[visit];
            int32_t count = beads[slot] + reward[result];
            count = count < min_beads ? min_beads : count;
            count = count > max_beads ? max_beads : count;
            totals[slot_box[slot]] += count - beads[slot];
            beads[slot] = count;
            draws[slot]++;
        }
    }
    state[0] = a;
    state[1] = b;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        perror("menace");
        exit(1);
    }
    return memory;
}

static int32_t *read_numbers(FILE *file, int32_t count)
{
    int32_t *numbers = allocate((size_t)count, sizeof *numbers);
    for (int32_t i = 0; i < count; i++)
        if (fscanf(file, "%" SCNd32, &numbers[i]) != 1) {
            fprintf(stderr, "menace: the file of tables is incomplete\n");
            exit(1);
        }
    return numbers;
}

static void read_tables(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &state[0], &state[1]) != 2) {
        fprintf(stderr, "menace: cannot read %s\n", path);
        exit(1);
    }
    int32_t *head = read_numbers(file, 13);
    n_boxes = head[0], n_slots = head[1], n_nodes = head[2], n_replies = head[3], start = head[4];
    reward[WIN] = head[5], reward[DRAW] = head[6], reward[LOSS] = head[7], min_beads = head[8], max_beads = head[9];
    start_plies = head[10], limit = head[11], endless = head[12];
    if (limit > MAX_VISITS) {
        fprintf(stderr, "menace: a game may have more plies than %d\n", MAX_VISITS);
        exit(1);
    }
    slot_indptr = read_numbers(file, n_boxes + 1);
    slot_target = read_numbers(file, n_slots);
    refills = read_numbers(file, n_boxes);
    initial = read_numbers(file, n_slots);
    reply_indptr = read_numbers(file, n_nodes + 1);
    reply_target = read_numbers(file, n_replies);
    slot_plies = read_numbers(file, n_slots);
    reply_plies = read_numbers(file, n_replies);
    fclose(file);
    free(head);

    slot_box = allocate((size_t)n_slots, sizeof *slot_box);
    beads = allocate((size_t)n_slots, sizeof *beads);
    draws = allocate((size_t)n_slots, sizeof *draws);
    totals = allocate((size_t)n_boxes, sizeof *totals);
    for (int32_t box = 0; box < n_boxes; box++)
        for (int32_t slot = slot_indptr[box]; slot < slot_indptr[box + 1]; slot++) {
            slot_box[slot] = box;
            beads[slot] = initial[slot];
            totals[box] += initial[slot];
        }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: menace TABLES GAMES\n");
        return 2;
    }
    read_tables(argv[1]);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    int64_t n_games = strtoll(argv[2], NULL, 10);
    if (limit)
        train(n_games, 1);
    else
        train(n_games, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    printf("%.9f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    printf("%" PRIu64 " %" PRIu64 "\n", state[0], state[1]);
    printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", tally[WIN], tally[DRAW], tally[LOSS]);
    for (int32_t slot = 0; slot < n_slots; slot++)
        printf("%" PRId32 " ", beads[slot]);
    printf("\n");
    for (int32_t slot = 0; slot < n_slots; slot++)
        printf("%" PRId64 " ", draws[slot]);
    printf("\n");
    for (int32_t box = 0; box < n_boxes; box++)
        printf("%" PRId64 " ", totals[box]);
    printf("\n");
    return 0;
}
