import { Gauge, type Registry } from 'prom-client';
import type { LogVerification } from '#domain/history/verification.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';

/** Shorter than the wait of whoever reads metrics. */
const timeoutMs = 1_000;

/** Adds the gauges of the last verification of the log. They are absent before the first. */
export function watchVerification(registry: Registry, last: () => Promise<LogVerification | null>): void {
  const read = () => withTimeout(timeoutMs, last(), null).catch(() => null);
  const time = new Gauge({
    name: 'switchyard_log_verification_timestamp_seconds',
    help: 'When the last verification of the log ended',
    registers: [registry],
  });
  new Gauge({
    name: 'switchyard_log_verification_findings',
    help: 'What the last verification of the log found to be wrong; more than 0 is an alarm',
    registers: [registry],
    async collect() {
      const verification = await read();
      this.reset();
      time.reset();
      if (verification === null) return;
      this.set(verification.findingCount);
      time.set(Date.parse(verification.time) / 1_000);
    },
  });
}
