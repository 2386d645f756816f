import type { Config } from '#app/config.ts';
import { openSpools } from '#app/stores/open-spools.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { openMetering } from '#usage/metering.ts';
import { type GatewaySource, type OpenGateway, openGateway } from './open-gateway.ts';

/** The dependencies of a gateway whose calls are metered. */
export interface MeteredGatewayDependencies {
  readonly metrics: Metrics;
  readonly events: EventStore;
  /** The unique name of this node. */
  readonly node: string;
  readonly log: Logger;
  /** Collects everything that must be closed. */
  readonly opened: AsyncDisposableStack;
}

/**
 * Opens the gateway and the metering of its calls. The metering is closed after the gateway.
 * @param source null on a node that calls no model
 * @returns null on a node that calls no model
 */
export function openMeteredGateway(
  config: Config,
  source: GatewaySource | null,
  { metrics, events, node, log, opened }: MeteredGatewayDependencies,
): OpenGateway | null {
  if (source === null) return null;
  const metering = openMetering({ registry: metrics.registry, events, node, log });
  opened.defer(() => metering.close());
  const gateway = openGateway(source, { log, metering, spools: openSpools(config, metrics), node });
  opened.defer(() => gateway.close());
  return gateway;
}
