/** Waits until all work has ended, so that none is left running. @throws the first failure, in the order of `works` */
export async function allSettled(works: ReadonlyArray<Promise<void>>): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
