/** The demo cannot continue. The message is one line with the reason and advice, and is printed unchanged. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
}
