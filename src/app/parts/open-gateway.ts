import * as E from 'fp-ts/lib/Either.js';
import type { Config } from '#app/config.ts';
import type { SpoolFolder } from '#gateway/audio/spool-folder.ts';
import { builtInConfiguration } from '#gateway/config/built-in-configuration.ts';
import { decodeConfiguration, type GatewayConfiguration } from '#gateway/config/configuration.ts';
import { ConfigurationFile } from '#gateway/config/configuration-file.ts';
import { Gateway } from '#gateway/gateway.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Metering } from '#usage/metering.ts';

/** The gateway, running. */
export interface OpenGateway {
  readonly gateway: Gateway;
  /** Reads its configuration again; what is wrong is logged. */
  readonly reload: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface OpenGatewayOptions {
  readonly log: Logger;
  /** Takes the records of calls and attempts. */
  readonly metering: Pick<Metering, 'usage' | 'attempts'>;
  /** Keeps uploads that are too large for memory. */
  readonly spools: SpoolFolder;
  /** This node's name. */
  readonly node: string;
}

/**
 * Opens the gateway on the file that `GATEWAY_CONFIG` names, or on the built-in sandbox.
 * @throws StartupError for a configuration that is not valid
 */
export async function openGateway({ gatewayConfig }: Config, options: OpenGatewayOptions): Promise<OpenGateway> {
  const { log, metering, spools, node } = options;
  const file = gatewayConfig === null ? null : new ConfigurationFile(gatewayConfig, process.env, log);
  const gateway = new Gateway({
    configuration: file === null ? sandboxOnly() : await file.load(),
    environment: process.env,
    usage: metering.usage,
    attempts: metering.attempts,
    spools,
    node,
    log,
  });
  metering.attempts.watchTargets(() => gateway.targets());
  if (file === null) log.info({}, 'no GATEWAY_CONFIG: the sandbox answers, and no model');
  file?.watch((configuration) => gateway.configure(configuration));
  return {
    gateway,
    reload: async () => file?.reload(),
    close: async () => {
      file?.close();
      await gateway.close();
    },
  };
}

function sandboxOnly(): GatewayConfiguration {
  const decoded = decodeConfiguration(builtInConfiguration, {});
  if (E.isLeft(decoded)) throw new Error('The built-in configuration is not valid');
  return decoded.right;
}
