/** Waits until all work has ended, so that a failure leaves nothing running. @throws the first failure */
export async function allEnded(work: ReadonlyArray<Promise<unknown>>): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
