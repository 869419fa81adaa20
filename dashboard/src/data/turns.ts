/** Tasks that wait for their turn. A browser has six connections to a server, and slow answers must leave some free. */

export function turns(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // whoever ends hands its place over
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
