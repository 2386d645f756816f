/**
 * Waits for work up to a time limit. A late result is ignored.
 * @param milliseconds the limit; a negative one counts as zero
 * @returns the result, or `late`
 * @throws what the work throws in time
 */
export async function withTimeout<Value, Late>(
  milliseconds: number,
  work: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  const { promise: expired, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(() => resolve(late), Math.max(0, milliseconds));
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

const expired = Symbol('expired');

/**
 * Does the same as `withTimeout`, but a late result is an error.
 * @throws what the work throws in time, otherwise the error that `late` returns
 */
export async function withTimeoutError<Value>(
  milliseconds: number,
  work: Promise<Value>,
  late: () => Error,
): Promise<Value> {
  const value = await withTimeout(milliseconds, work, expired);
  if (value === expired) throw late();
  return value;
}
