/* What benchmarks/mpi.py runs: the same sums over all ranks, again and again, as training does.

     allreduce MARKS ROUNDS NUMBERS

   Rank 0 writes two lines to the file MARKS: "begun" with the time of day when MPI was ready, and
   "took" with the seconds of the loop. A wrong sum ends the program with an error. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double time_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double sums(int rounds, int numbers, double *mine, double *all)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    for (int round = 0; round < rounds; round++)
        MPI_Allreduce(mine, all, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begun;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    double begun = time_of_day();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int rounds = atoi(argv[2]), numbers = atoi(argv[3]);
    double *mine = malloc(sizeof(double) * (size_t)numbers);
    double *all = malloc(sizeof(double) * (size_t)numbers);
    if (mine == NULL || all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int index = 0; index < numbers; index++)
        mine[index] = rank + 1;
    sums(1 + rounds / 10, numbers, mine, all); /* connections are made, and caches filled */
    double took = sums(rounds, numbers, mine, all);
    if (all[numbers - 1] != size * (size + 1) / 2)
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (rank == 0) {
        FILE *marks = fopen(argv[1], "w");
        if (marks == NULL)
            MPI_Abort(MPI_COMM_WORLD, 5);
        fprintf(marks, "begun %.6f\ntook %.6f\n", begun, took);
        if (fclose(marks) != 0)
            MPI_Abort(MPI_COMM_WORLD, 6);
    }
    MPI_Finalize();
    return 0;
}
