/**
 * The service cannot start, and a person must do something about it. The message is one clear line that names what is
 * wrong (a file, a folder, a variable) and what to do; it is printed as it is, without a stack.
 */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

/** Opens what a variable names. @throws StartFailure that names it, in place of one that does not */
export function ofVariable<Opened>(variable: string, open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (error instanceof StartFailure) throw new StartFailure(`${variable}: ${error.message}`);
    throw error;
  }
}
