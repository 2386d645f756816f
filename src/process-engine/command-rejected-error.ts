import type { Failure, FailureCode } from '#domain/shared/failure.ts';

/** The service has refused a command of a process. */
export class CommandRejectedError extends Error {
  override readonly name = 'CommandRejectedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.failure = failure;
  }
}

const passing: ReadonlySet<FailureCode> = new Set(['unavailable', 'too-many-conflicts']);

/** Whether a retry may resolve a refusal. Any other one is final. */
export function isPassing({ code }: Failure): boolean {
  return passing.has(code);
}
