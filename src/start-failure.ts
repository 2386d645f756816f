/**
 * The service cannot start, and a person must do something about it. The message is one clear line that names what is
 * wrong (a file, a folder, a variable) and what to do; it is printed as it is, without a stack.
 */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
