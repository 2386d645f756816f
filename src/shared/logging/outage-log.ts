import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from './logged-error.ts';
import type { Logger } from './logger.ts';

/**
 * Logs an outage once, and its end once, however often both are reported. It writes nothing about an outage that the
 * connection to the store logs itself.
 */
export class OutageLog {
  readonly #log: Logger;
  readonly #what: string;
  readonly #fields: Readonly<Record<string, unknown>>;
  #out = false;

  /** @param what is unavailable, as the beginning of a sentence */
  constructor(log: Logger, what: string, fields: Readonly<Record<string, unknown>> = {}) {
    this.#log = log;
    this.#what = what;
    this.#fields = fields;
  }

  failed(error: unknown): void {
    if (this.#out || (error instanceof UnavailableError && error.isLogged)) return;
    this.#out = true;
    this.#log.warn({ ...this.#fields, error: errorText(error) }, `${this.#what} cannot be used and is tried again`);
  }

  succeeded(): void {
    if (!this.#out) return;
    this.#out = false;
    this.#log.info(this.#fields, `${this.#what} can be used again`);
  }
}
