/** The demo cannot continue. The message is one clear line that says why and what to do, and is printed unchanged. */
export class DemoError extends Error {
  override readonly name = 'DemoFailure';
}
