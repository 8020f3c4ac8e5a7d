/* Trains a table of values in C, for comparison with the speed of the compiled Python kernel.
 *
 *     cc -O3 -ffp-contract=off -o table table.c -lm && ./table TABLES GAMES
 *
 * tests/bench/c_program.py writes the file TABLES: the graph of the game, the entry of each move, the opponent's
 * replies, the rule and the random state, as numbers in text. The algorithm is that of
 * beadbox/kernels/table_learning.py against a fixed opponent, with a random side for the learner. Sums and products
 * have the same order, so that the values are equal to the last bit.
 *
 * The program prints the processor seconds of the games, then all that was learnt, so that both can be compared.
 */

#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <inttypes.h>
#include <math.h> /* rint */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIN, DRAW, LOSS };
enum { MAX_PLIES = 64 };
enum { DRAWN = -3 };
static const int64_t TICKETS = (INT64_C(1) << 32) - 1;
static const double UNITS = 1e8;

/* A successor is a node, or -1, -2, -3 for a win of the first side, a win of the second side, a draw. */
static int32_t n_nodes, n_edges, n_entries, n_replies, off_policy, by_visits;
static double reach, discount, value_factor, step_size, decay, min_epsilon, reward[3], start_value, epsilon;
static int32_t *indptr, *successor, *side, *edge_entry, *reply_indptr, *reply_edge;
static double *values;
static int64_t *visits;
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

static void train(int64_t n_games)
{
    uint64_t a = state[0], b = state[1];
    double action_values[MAX_PLIES * 2];
    for (int64_t game = 0; game < n_games; game++) {
        int32_t path[MAX_PLIES];
        double next_values[MAX_PLIES];
        int n_path = 0;
        int32_t own_side = (int32_t)below(next_word(&a, &b), 2), node = 0;
        while (node >= 0) {
            int32_t first = indptr[node], end = indptr[node + 1], mover = side[node], edge;
            if (mover != own_side) {
                int32_t reply = reply_indptr[node];
                edge = reply_edge[reply + below(next_word(&a, &b), reply_indptr[node + 1] - reply)];
            } else {
                double best_value = -1e300;
                int64_t n_best = 0;
                for (int32_t one = first; one < end; one++) {
                    int32_t entry = edge_entry[one];
                    double action_value = entry >= 0 ? value_factor * values[entry]
                                   : successor[one] == DRAWN ? reward[DRAW]
                                   : -1 - successor[one] == mover ? reward[WIN]
                                                                  : reward[LOSS];
                    action_values[one - first] = action_value;
                    if (action_value > best_value) {
                        best_value = action_value;
                        n_best = 1;
                    } else if (action_value == best_value)
                        n_best++;
                }
                int explores = (double)below(next_word(&a, &b), TICKETS) < epsilon * (double)TICKETS;
                int64_t n_left = below(next_word(&a, &b), explores ? end - first : n_best);
                edge = first;
                if (explores)
                    edge += (int32_t)n_left;
                else
                    for (;; edge++)
                        if (action_values[edge - first] == best_value && n_left-- == 0)
                            break;
                if (edge_entry[edge] >= 0) {
                    path[n_path] = edge_entry[edge];
                    next_values[n_path] = off_policy ? best_value : values[path[n_path]];
                    n_path++;
                }
            }
            node = successor[edge];
        }
        int result = node == DRAWN ? DRAW : -1 - node == own_side ? WIN : LOSS;
        tally[result]++;
        double target = reward[result];
        for (int index = n_path - 1; index >= 0; index--) {
            if (index < n_path - 1)
                target = discount * ((1.0 - reach) * next_values[index + 1] + reach * target);
            int32_t entry = path[index];
            int64_t n = ++visits[entry];
            if (by_visits && reach == 1.0) { /* the mean of returns, from their sum in integer units */
                double total = 0.0 + rint(values[entry] * ((double)(n - 1) * UNITS)) + rint(target * UNITS);
                values[entry] = total / ((double)n * UNITS);
            } else {
                double step = by_visits ? 1.0 / (double)n : step_size;
                values[entry] += step * (target - values[entry]);
            }
        }
        double decayed = decay * epsilon;
        epsilon = decayed > min_epsilon ? decayed : min_epsilon;
    }
    state[0] = a;
    state[1] = b;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        perror("table");
        exit(1);
    }
    return memory;
}

static void require(int was_read)
{
    if (!was_read) {
        fprintf(stderr, "table: the file of tables is incomplete\n");
        exit(1);
    }
}

static int32_t *read_numbers(FILE *file, int32_t count)
{
    int32_t *numbers = allocate((size_t)count, sizeof *numbers);
    for (int32_t i = 0; i < count; i++)
        require(fscanf(file, "%" SCNd32, &numbers[i]) == 1);
    return numbers;
}

static double read_float(FILE *file)
{
    double number = 0;
    require(fscanf(file, "%la", &number) == 1);
    return number;
}

static void read_tables(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &state[0], &state[1]) != 2) {
        fprintf(stderr, "table: cannot read %s\n", path);
        exit(1);
    }
    int32_t *head = read_numbers(file, 6);
    n_nodes = head[0], n_edges = head[1], n_entries = head[2], n_replies = head[3], off_policy = head[4];
    by_visits = head[5];
    reach = read_float(file), discount = read_float(file), value_factor = read_float(file);
    step_size = read_float(file), decay = read_float(file), min_epsilon = read_float(file);
    reward[WIN] = read_float(file), reward[DRAW] = read_float(file), reward[LOSS] = read_float(file);
    start_value = read_float(file), epsilon = read_float(file);
    indptr = read_numbers(file, n_nodes + 1);
    successor = read_numbers(file, n_edges);
    side = read_numbers(file, n_nodes);
    edge_entry = read_numbers(file, n_edges);
    reply_indptr = read_numbers(file, n_nodes + 1);
    reply_edge = read_numbers(file, n_replies);
    fclose(file);
    free(head);

    values = allocate((size_t)n_entries, sizeof *values);
    visits = allocate((size_t)n_entries, sizeof *visits);
    for (int32_t entry = 0; entry < n_entries; entry++)
        values[entry] = start_value;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: table TABLES GAMES\n");
        return 2;
    }
    read_tables(argv[1]);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    train(strtoll(argv[2], NULL, 10));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    printf("%.9f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    printf("%" PRIu64 " %" PRIu64 "\n", state[0], state[1]);
    printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", tally[WIN], tally[DRAW], tally[LOSS]);
    for (int32_t entry = 0; entry < n_entries; entry++)
        printf("%a ", values[entry]);
    printf("\n");
    for (int32_t entry = 0; entry < n_entries; entry++)
        printf("%" PRId64 " ", visits[entry]);
    printf("\n%a\n", epsilon);
    return 0;
}
