import type { ProjectFile } from '#application/files/project-file.ts';
import type { GatewayHealth } from '#domain/usage/gateway-health.ts';
import type { Admission } from '#exchange/admission.ts';
import type { CallLimits } from '#exchange/call-limits.ts';
import type { ConfigurationSnapshot } from '#gateway/config/configuration-snapshot.ts';
import { CircuitBreaker } from '#gateway/health/circuit-breaker.ts';
import { AttemptLog, type AttemptObserver } from '#gateway/health/target-health.ts';
import type { Usage } from '#gateway/relay/call-record.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import type { SpoolFolder } from './audio/spool-folder.ts';
import { CleanUps } from './clean-ups.ts';
import { Catalogue } from './config/catalogue.ts';
import type { GatewayConfiguration } from './config/configuration.ts';
import { CircuitChanges } from './health/circuit-changes.ts';
import { TargetHealth } from './health/target-health.ts';
import { type ListedTarget, listRouteTargets, targetWindowSeconds } from './health/target-list.ts';
import type { Provider } from './providers/provider.ts';
import { openProvider, type ProviderConfiguration } from './providers/provider-kinds.ts';
import type { ConnectionFault } from './transport/provider-connection.ts';

export interface GatewayOptions {
  readonly configuration: GatewayConfiguration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly usage: Usage;
  readonly attempts: Pick<AttemptObserver, 'attempt'>;
  readonly node: string;
  readonly log: Pick<Logger, 'warn'>;
  /** A random number from 0 to 1, 1 excluded. Default `Math.random`. */
  readonly random?: () => number;
  /** A monotonic clock in ms. Default `performance.now`. */
  readonly circuitClock?: () => number;
  /** Spools for uploads that are too large for memory. */
  readonly spools: SpoolFolder;
  readonly responses: StoredResponses;
  /** Finds a file; null if it does not exist. @throws UnavailableError */
  readonly findFile: (fileId: string, projectId: string) => Promise<ProjectFile | null>;
  readonly admission: Admission;
}

export interface RelayDependencies {
  readonly breaker: CircuitBreaker;
  readonly usage: Usage;
  readonly observer: AttemptObserver;
  /** A random number from 0 to 1, 1 excluded: for weights and jitter. */
  readonly random: () => number;
}

/** Minimum time between two log lines about one provider. */
const faultLogIntervalMs = 3_600_000;

interface OpenedProvider {
  readonly provider: Provider;
  /** The fingerprint of its settings. A provider with the same settings keeps its connections. */
  readonly fingerprint: string;
}

export class Gateway {
  readonly relayDependencies: RelayDependencies;
  readonly spools: SpoolFolder;
  readonly node: string;
  readonly responses: StoredResponses;
  readonly findFile: GatewayOptions['findFile'];
  readonly log: GatewayOptions['log'];
  readonly admission: Admission;
  /** The limits, which all configurations share. */
  readonly limits: CallLimits;
  readonly cleanUps: CleanUps;
  readonly #breaker: CircuitBreaker;
  readonly #health = new TargetHealth();
  readonly #circuitChanges = new CircuitChanges();
  readonly #attemptLog: AttemptLog;
  readonly #connectionFaults: ThrottledLog;
  readonly #environment: GatewayOptions['environment'];
  #opened: ReadonlyMap<string, OpenedProvider> = new Map();
  #current: ConfigurationSnapshot;
  /** Replaced configurations that running calls still use. */
  readonly #retired = new Set<ConfigurationSnapshot>();

  constructor(options: GatewayOptions) {
    const { configuration, environment, usage, random = Math.random, spools } = options;
    this.node = options.node;
    this.responses = options.responses;
    this.findFile = options.findFile;
    this.log = options.log;
    this.#breaker = new CircuitBreaker(options.circuitClock);
    this.#attemptLog = new AttemptLog(options.log);
    this.#connectionFaults = new ThrottledLog(
      (fields, message) => options.log.warn(fields, message),
      faultLogIntervalMs,
    );
    const observer = this.#observerOf(options);
    this.relayDependencies = { breaker: this.#breaker, usage, observer, random };
    this.spools = spools;
    this.cleanUps = new CleanUps(options.admission);
    this.#environment = environment;
    this.admission = options.admission;
    this.limits = options.admission.calls;
    this.limits.configure(configuration.limits);
    this.#current = this.#open(configuration);
  }

  /** Takes the configuration for one call: all its attempts use it. The call must release it when it ends. */
  acquireConfiguration(): ConfigurationSnapshot {
    this.#current.runningCalls += 1;
    return this.#current;
  }

  releaseConfiguration(snapshot: ConfigurationSnapshot): void {
    snapshot.runningCalls -= 1;
    if (snapshot.runningCalls === 0 && this.#retired.delete(snapshot)) this.#closeUnused(snapshot);
  }

  /** Changes the configuration. Running calls keep theirs until they end. */
  configure(configuration: GatewayConfiguration): void {
    const before = this.#current;
    const openedBefore = this.#opened;
    this.#current = this.#open(configuration);
    this.limits.configure(configuration.limits);
    if (before.runningCalls > 0) this.#retired.add(before);
    else this.#closeUnused(before);
    const targets = this.#current.catalogue.targetIds();
    this.#breaker.keepOnly(targets);
    this.#health.keepOnly(targets);
    const changed = [...this.#opened].filter(([name, opened]) => openedBefore.get(name) !== opened);
    this.#health.forgetRefusedKeys(new Set(changed.map(([name]) => name)));
  }

  modelNames(): ReadonlyArray<string> {
    return this.#current.catalogue.models().map(({ name }) => name);
  }

  /** The targets of the current configuration, on this node. */
  targets(): ReadonlyArray<ListedTarget> {
    return listRouteTargets(this.#current.catalogue.routes(), {
      circuit: (target) => this.#breaker.state(target),
      record: (target) => this.#health.record(target),
    });
  }

  health(): GatewayHealth {
    const circuitChanges = this.#circuitChanges.list();
    return { node: this.node, windowSeconds: targetWindowSeconds, targets: this.targets(), circuitChanges };
  }

  /** Closes the gateway, and lets running calls end first. */
  async close(): Promise<void> {
    await this.cleanUps.close();
    const all = [this.#current, ...this.#retired].flatMap(({ providers }) => [...providers.values()]);
    this.#retired.clear();
    await Promise.all([...new Set(all)].map(({ transport }) => transport.close()));
    this.#attemptLog.close();
    this.#connectionFaults.close();
  }

  #observerOf({ attempts }: Pick<GatewayOptions, 'attempts'>): AttemptObserver {
    return {
      attempt: (report) => {
        this.#health.add(report);
        this.#attemptLog.attempt(report);
        attempts.attempt(report);
      },
      circuit: (change) => {
        this.#circuitChanges.add(change);
        this.#attemptLog.circuit(change);
      },
    };
  }

  #closeUnused({ providers }: ConfigurationSnapshot): void {
    const used = [this.#current, ...this.#retired];
    for (const [name, provider] of providers) {
      if (!used.some((snapshot) => snapshot.providers.get(name) === provider)) void provider.transport.close();
    }
  }

  #open(configuration: GatewayConfiguration): ConfigurationSnapshot {
    const opened = Object.entries(configuration.providers).map(
      ([name, each]) => [name, this.#openOrReuse(name, each)] as const,
    );
    this.#opened = new Map(opened);
    return {
      catalogue: new Catalogue(configuration),
      providers: new Map(opened.map(([name, { provider }]) => [name, provider])),
      runningCalls: 0,
    };
  }

  #openOrReuse(name: string, configuration: ProviderConfiguration): OpenedProvider {
    const { apiKeyEnv } = configuration;
    const apiKey = apiKeyEnv === undefined ? null : (this.#environment[apiKeyEnv] ?? null);
    const fingerprint = JSON.stringify([configuration, apiKey]);
    const before = this.#opened.get(name);
    if (before?.fingerprint === fingerprint) return before;
    const onFault = (fault: ConnectionFault) =>
      this.#connectionFaults.write(name, { provider: name, fault }, faultMessages[fault]);
    const provider = openProvider({ name, configuration, apiKey, onFault });
    return { provider, fingerprint };
  }
}

const faultMessages: Readonly<Record<ConnectionFault, string>> = {
  'excess-bytes': 'a provider sends more than its answers, so its connection is closed and not used again',
  'early-answer': 'a provider answers before it has the whole request, so its connection is closed and not used again',
};
