import type { Failure } from '#domain/shared/failure.ts';

/** What a process wanted to append was refused. */
export class CommandRejectedError extends Error {
  override readonly name = 'CommandRejectedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.failure = failure;
  }
}
