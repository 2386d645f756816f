import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** Minimum time between two lines about one outage. Its causes may alternate. */
const lineEveryMs = 60_000;

export interface OutageLinesOptions {
  readonly server: string;
  readonly log: Logger | null;
}

/** Logs an outage when it begins and when it ends, and a changed cause at most once a minute. */
export class OutageLines {
  readonly #options: OutageLinesOptions;
  #last: { readonly detail: string; readonly at: number } | null = null;

  constructor(options: OutageLinesOptions) {
    this.#options = options;
  }

  /** Logs that an outage lasts. Call it whenever the server was found unavailable. */
  lasts({ detail, address }: { readonly detail: string; readonly address?: string }): void {
    const { server, log } = this.#options;
    const at = clock.now();
    if (this.#last !== null && (this.#last.detail === detail || at - this.#last.at < lineEveryMs)) return;
    this.#last = { detail, at };
    log?.warn(
      { cause: detail, ...(address !== undefined && { address }) },
      `${server} cannot be used; it is probed until it can`,
    );
  }

  /** Logs the end. Call it when the server can be used again. */
  ended(): void {
    const { server, log } = this.#options;
    this.#last = null;
    log?.info({}, `${server} can be used again`);
  }
}
