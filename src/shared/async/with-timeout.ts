/**
 * Waits for work no longer than a limit. A late result is ignored.
 * @param milliseconds the limit; one that has passed already counts as zero
 * @returns the result, or `late`
 * @throws what it throws in time
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
 * As `withTimeout`, for work that fails when it is late.
 * @throws what it throws in time, else what `late` gives
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
