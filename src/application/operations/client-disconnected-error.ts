/** The client went away before its request was complete: there is no one to answer. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}
