/**
 * Calls a store until it answers.
 * @param what the name of the call in the log
 * @throws what `call` throws other than UnavailableError, which is retried
 */
export type Persist = <Result>(what: string, call: () => Promise<Result>) => Promise<Result>;
