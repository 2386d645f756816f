/**
 * The service cannot start until a person does something. The message is one line that names what is wrong (a file, a
 * folder, a variable) and what to do. It is printed unchanged, without a stack.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** Opens what a variable names. @throws StartupError that names the variable, in place of one that does not */
export function withVariableName<Opened>(variable: string, open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (error instanceof StartupError) throw new StartupError(`${variable}: ${error.message}`);
    throw error;
  }
}
