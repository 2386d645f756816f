/**
 * Calls a store until it answers.
 * @param what named in the log when it fails
 * @throws what `call` throws other than UnavailableError, which is retried
 */
export type Persist = <Result>(what: string, call: () => Promise<Result>) => Promise<Result>;
