/** Waits for all work to end, so that nothing goes on unseen. @throws the first failure, in their order */
export async function allSettled(works: ReadonlyArray<Promise<void>>): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
