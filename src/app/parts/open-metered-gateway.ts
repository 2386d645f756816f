import type { Config } from '#app/config.ts';
import { openSpools } from '#app/stores/open-spools.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { openMetering } from '#usage/metering.ts';
import { type OpenGateway, openGateway } from './open-gateway.ts';

/** What calls of the gateway are counted in. */
export interface MeteredGatewayDependencies {
  readonly metrics: Metrics;
  readonly events: EventStore;
  /** This node's name, unlike any other's. */
  readonly node: string;
  readonly log: Logger;
  /** Takes what must be closed. */
  readonly opened: AsyncDisposableStack;
}

/**
 * Opens the gateway and what its calls are counted by, which is closed after it.
 * @returns null on a node that calls no model
 * @throws StartupError for a configuration that is not valid
 */
export async function openMeteredGateway(
  config: Config,
  { metrics, events, node, log, opened }: MeteredGatewayDependencies,
): Promise<OpenGateway | null> {
  if (!callsModels(config)) return null;
  const metering = openMetering({ registry: metrics.registry, events, node, log });
  opened.defer(() => metering.close());
  const gateway = await openGateway(config, { log, metering, spools: openSpools(config, metrics), node });
  opened.defer(() => gateway.close());
  return gateway;
}

/** A node without the role may have the gateway for the calls of batches. */
function callsModels({ roles, gatewayConfig }: Config): boolean {
  return roles.has('gateway') || (roles.has('projections') && gatewayConfig !== null);
}
