/**
 * The service cannot start, and a person must do something about it. The message is one clear line that names what is
 * wrong (a file, a folder, a variable) and what to do; it is printed as it is, without a stack.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** Opens what a variable names. @throws StartupError that names it, in place of one that does not */
export function withVariableName<Opened>(variable: string, open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (error instanceof StartupError) throw new StartupError(`${variable}: ${error.message}`);
    throw error;
  }
}
