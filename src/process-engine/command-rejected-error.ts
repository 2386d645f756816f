import type { Failure } from '#domain/shared/failure.ts';

/** The service has refused a command of a process. */
export class CommandRejectedError extends Error {
  override readonly name = 'CommandRejectedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.failure = failure;
  }
}
