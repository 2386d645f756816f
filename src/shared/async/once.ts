/** Each call returns the promise of the first one, also while that still runs. */
export function once<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => {
    result ??= run();
    return result;
  };
}
