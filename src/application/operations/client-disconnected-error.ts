/** The client left before its request was complete, so no answer can be sent. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}
