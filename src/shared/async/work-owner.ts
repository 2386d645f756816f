import { AsyncLocalStorage } from 'node:async_hooks';

/** The owner of work that belongs to no project: the service's own. */
export const serviceOwner = 'service';

const owners = new AsyncLocalStorage<string>();

/** Returns whose work runs now: the id of a project, or `serviceOwner`. */
export function currentOwner(): string {
  return owners.getStore() ?? serviceOwner;
}

/**
 * Runs work for an owner. Queues that serve owners in turn count the work as the owner's, also after it has waited.
 * @param owner the id of a project, or `serviceOwner`
 */
export function runFor<Result>(owner: string, work: () => Result): Result {
  return owners.run(owner, work);
}
