import * as E from 'fp-ts/lib/Either.js';
import { Counter } from 'prom-client';
import type { Config } from '#app/config.ts';
import type { Runtime } from '#app/runtime.ts';
import { openSpools } from '#app/stores/open-spools.ts';
import type { LineCalls } from '#application/batches/line-calls.ts';
import { findProjectFile } from '#application/files/project-file.ts';
import { createLineCaller } from '#gateway/batch/line-caller.ts';
import type { GatewayConfiguration } from '#gateway/config/configuration.ts';
import { builtInConfiguration, ConfigurationFile } from '#gateway/config/configuration-file.ts';
import { decodeConfiguration } from '#gateway/config/decode-configuration.ts';
import { Gateway } from '#gateway/gateway.ts';
import { CopyRetention } from '#gateway/responses/copy-retention.ts';
import { ResponseRetention } from '#responses/response-retention.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { CallRetention } from '#usage/call-log/call-retention.ts';
import { openMetering } from '#usage/metering.ts';
import { gatewayLimits } from './body-limits.ts';
import { runOnOneNode } from './run-on-one-node.ts';

export interface OpenGateway {
  readonly gateway: Gateway;
  /** Reads the configuration again. Its faults are logged. */
  readonly reload: () => Promise<void>;
}

export interface GatewaySource {
  readonly configuration: GatewayConfiguration;
  /** The configuration file; null for the built-in sandbox. */
  readonly file: ConfigurationFile | null;
}

/**
 * Reads the file that `GATEWAY_CONFIG` names, or uses the built-in sandbox. It opens and creates nothing.
 * @returns null on a node that calls no model
 * @throws StartupError for an invalid configuration
 */
export async function readGatewaySource(config: Config, log: Logger): Promise<GatewaySource | null> {
  if (!callsModels(config)) return null;
  const { gatewayConfig } = config;
  if (gatewayConfig === null) return { configuration: sandboxOnly(), file: null };
  const file = new ConfigurationFile(gatewayConfig, process.env, log);
  return { configuration: await file.load(), file };
}

/**
 * Opens the gateway and the metering of its calls. Follows changes of the file. The metering is closed after the
 * gateway.
 * @returns null on a node that calls no model
 */
export function openGateway(source: GatewaySource | null, runtime: Runtime): OpenGateway | null {
  if (source === null) return null;
  const { admission, config, metrics, events, calls, responses, writer, blobs, node, log, opened } = runtime;
  const { configuration, file } = source;
  const metering = openMetering({ admission, registry: metrics.registry, events, calls, node, log });
  opened.addBuffer('metering', metering);
  keepCallLimits(runtime);
  keepResponseLimits(runtime);
  const gateway = new Gateway({
    admission,
    configuration,
    environment: process.env,
    usage: metering.usage,
    attempts: metering.attempts,
    spools: openSpools(config, admission.budgets.spool, metrics),
    responses,
    findFile: (fileId, projectId) => findProjectFile({ writer, blobs }, fileId, projectId),
    node,
    log,
  });
  metering.attempts.watchTargets(() => gateway.targets());
  if (file === null) log.info({}, 'no GATEWAY_CONFIG: the sandbox answers, and no model');
  file?.watch((changed) => gateway.configure(changed));
  // The file may have changed while the stores were opened.
  void file?.reload();
  opened.defer(async () => {
    file?.close();
    await gateway.close();
  });
  keepNoCopies(gateway, runtime);
  return { gateway, reload: async () => file?.reload() };
}

/** Null on a node that runs no batches. */
export function lineCallsThrough(gateway: Gateway | null, { config }: Runtime): LineCalls | null {
  if (gateway === null || !config.roles.has('projections')) return null;
  return createLineCaller(gateway, gatewayLimits(config.limits));
}

/** Removes old records of calls, and the oldest ones of projects that have too many. */
function keepCallLimits(runtime: Runtime): void {
  const { calls, metrics, log } = runtime;
  const removed = new Counter({
    name: 'switchyard_call_records_removed_total',
    help: 'Records of calls that were removed because their project, or all projects together, had too many',
    registers: [metrics.registry],
  });
  runOnOneNode(runtime, {
    name: 'gateway-calls',
    failureMessage: 'The removal of old records of calls has failed and is started again',
    work: ({ signal, guard }) => {
      const retention = new CallRetention({ calls: guard(calls), onRemoved: (count) => removed.inc(count) });
      return retention.run(signal, log);
    },
  });
}

/** Removes responses that are too old, or beyond the quota of their project. */
function keepResponseLimits(runtime: Runtime): void {
  const { responses, metrics, log } = runtime;
  const removed = new Counter<'reason'>({
    name: 'switchyard_responses_removed_total',
    help: 'Stored responses that were removed because of their age or the quota of their project',
    labelNames: ['reason'],
    registers: [metrics.registry],
  });
  responses.watchRemovals((reason) => removed.inc({ reason }));
  runOnOneNode(runtime, {
    name: 'stored-responses',
    failureMessage: 'The removal of old responses has failed and is started again',
    work: ({ signal, guard }) => new ResponseRetention({ responses: guard(responses) }).run(signal, log),
  });
}

/** Removes copies at providers when nothing here needs them any more. */
function keepNoCopies(gateway: Gateway, runtime: Runtime): void {
  const { log, relayDependencies, responses } = gateway;
  const configurations = {
    acquireConfiguration: () => gateway.acquireConfiguration(),
    // Work that was left gives its configuration back too.
    releaseConfiguration: (used: Parameters<Gateway['releaseConfiguration']>[0]) => gateway.releaseConfiguration(used),
  };
  runOnOneNode(runtime, {
    name: 'response-copies',
    failureMessage: 'The deletion of the copies of responses at providers has failed and is started again',
    work: ({ signal, guard }) => {
      const used = { log, relayDependencies, responses: guard(responses), ...configurations };
      return new CopyRetention({ gateway: used }).run(signal, runtime.log);
    },
  });
}

/** True if this node calls models. A node without the role may do so for batches. */
function callsModels({ roles, gatewayConfig }: Config): boolean {
  return roles.has('gateway') || (roles.has('projections') && gatewayConfig !== null);
}

function sandboxOnly(): GatewayConfiguration {
  const decoded = decodeConfiguration(builtInConfiguration, {});
  if (E.isLeft(decoded)) throw new Error('The built-in configuration is not valid');
  return decoded.right;
}
