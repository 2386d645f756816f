/**
 * Waits for work no longer than a limit; what it comes to later is nobody's.
 * @returns what it comes to, or `late`
 * @throws what it throws in time
 */
export async function withTimeout<Value, Late>(
  milliseconds: number,
  work: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  const { promise: expired, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(() => resolve(late), milliseconds);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

const expired = Symbol('expired');

/**
 * As `inTime`, for work whose lateness is a failure.
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
