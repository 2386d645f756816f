import type { ReachFault } from './reach.ts';

/** A term that a node knows to have begun. */
interface BegunTerm {
  readonly at: number;
  readonly lease: string;
}

/** What has happened to a world that may make its nodes repeat something. */
export class WorldHistory {
  readonly faults: ReachFault[] = [];
  readonly terms: BegunTerm[] = [];
  /**
   * The positions at which deliveries began without what was before, by endpoint, as a log line has named them: no term
   * had stored anything before the endpoint was created.
   */
  readonly lateDeliveries = new Map<string, number>();

  /** Notes a log line of a node. */
  onLine(message: string, { webhookEndpoint, position }: Readonly<Record<string, unknown>>): void {
    if (message.startsWith('The delivery position of a webhook endpoint is lost'))
      this.lateDeliveries.set(String(webhookEndpoint), Number(position));
  }

  /** How often a lease changed hands between two times. */
  termsOf(lease: string, from: number, to: number): number {
    return this.terms.filter((term) => term.lease === lease && term.at > from && term.at <= to).length;
  }

  /** How many calls got an error that no port names, so that the work which made them begins again. */
  strangeErrors(from: number, to: number): number {
    return this.faults.filter(({ at, fate }) => fate === 'wrong error' && at > from && at <= to).length;
  }
}
