import { Gauge, type Registry } from 'prom-client';
import type { LogVerification } from '#domain/history/verification.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';

/** Shorter than the wait of whoever reads metrics. */
const timeoutMs = 1_000;

/** Each read may throw UnavailableError. */
export interface VerificationReads {
  readonly last: () => Promise<LogVerification | null>;
  /**
   * The time of the last verification in ms since 1970; before the first, the time since when the log can be verified.
   */
  readonly verifiedTime: () => Promise<number | null>;
}

/** The metrics are absent while there is no verification, and when it cannot be read. */
export function watchVerification(registry: Registry, { last, verifiedTime }: VerificationReads): void {
  addGauge(registry, {
    name: 'switchyard_log_verification_timestamp_seconds',
    help: 'When the last verification of the log ended; before the first, since when the log can be verified',
    read: async () => {
      const time = await verifiedTime();
      return time === null ? null : time / 1_000;
    },
  });
  addGauge(registry, {
    name: 'switchyard_log_verification_findings',
    help: 'What the last verification of the log found to be wrong; more than 0 is an alarm',
    read: async () => (await last())?.findingCount ?? null,
  });
}

interface ReadGauge {
  readonly name: string;
  readonly help: string;
  /** @returns the value; null for none */
  readonly read: () => Promise<number | null>;
}

function addGauge(registry: Registry, { name, help, read }: ReadGauge): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await withTimeout(timeoutMs, read(), null).catch(() => null);
      // A gauge without a value would show 0, which is a time long ago.
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
