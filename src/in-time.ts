/**
 * Waits for work no longer than a limit; what it comes to later is nobody's.
 * @returns what it comes to, or `late`
 * @throws what it throws in time
 */
export async function inTime<Value, Late>(
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
