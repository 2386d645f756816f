/** The demo cannot go on. The message is one clear line that says why and what to do, and is printed as it is. */
export class DemoError extends Error {
  override readonly name = 'DemoFailure';
}
