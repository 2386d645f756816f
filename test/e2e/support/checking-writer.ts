import assert from 'node:assert/strict';
import type { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import type { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { profileContents } from './operations.ts';
import type { SettlingClient } from './settling-load.ts';

const profileCount = 3;
const effectsTimeoutMs = 60_000;

const steps = ['rename', 'add flow', 'add version', 'activate', 'move default', 'assign'] as const;

/**
 * A writer with a project of its own. Nobody else writes there, so it knows what an answer must show. After each change it
 * reads on the same node, with the position of the change.
 */
export class CheckingWriter {
  readonly #client: SettlingClient;
  readonly #random: () => number;
  readonly #project: string;
  /** The names of the flows by their ids. */
  readonly #flows = new Map<string, string>();
  /** The profiles of flows that were assigned. */
  readonly #profileOf = new Map<string, string>();
  readonly #versions: string[] = [];
  readonly #profiles: string[] = [];
  #activeVersion = '';
  #defaultProfile = '';
  #position = '0';
  #changes = 0;

  private constructor(client: SettlingClient, random: () => number, projectId: string) {
    this.#client = client;
    this.#random = random;
    this.#project = `/v1/projects/${projectId}`;
  }

  /** Creates the project, and what is changed in it. @param random from 0 to 1, 1 excluded */
  static async begin(client: SettlingClient, random: () => number): Promise<CheckingWriter> {
    const project = await client.carryOut('POST', '/v1/projects', { name: 'Checked' });
    const writer = new CheckingWriter(client, random, project.body?.id ?? '');
    await writer.#addFlow();
    const [first] = (await writer.#listVersions()).versions;
    assert.ok(first);
    writer.#versions.push(first.id);
    writer.#activeVersion = first.id;
    for (let profile = 0; profile < profileCount; profile += 1) {
      const body = { ...profileContents, isDefault: profile === 0 };
      writer.#profiles.push(await writer.#change('POST', `${writer.#project}/agent-profiles`, body));
    }
    writer.#defaultProfile = writer.#profiles[0] ?? '';
    // A process reacts to it, whatever few steps follow.
    await writer.#assign(writer.#anyOf([...writer.#flows.keys()]), writer.#anyOf(writer.#profiles));
    return writer;
  }

  /** Makes a change at random until it is acknowledged, and asserts that the node shows it and no older state. */
  async step(): Promise<void> {
    const step = this.#anyOf(steps);
    if (step === 'rename') await this.#rename(this.#anyOf([...this.#flows.keys()]));
    else if (step === 'add flow') await this.#addFlow();
    else if (step === 'add version') await this.#addVersion();
    else if (step === 'activate') await this.#activate(this.#anyOf(this.#versions));
    else if (step === 'move default') await this.#moveDefault(this.#anyOf(this.#profiles));
    else await this.#assign(this.#anyOf([...this.#flows.keys()]), this.#anyOf(this.#profiles));
    await this.expectShown();
  }

  /** Asserts that the node shows the newest state of everything, at the newest position. */
  async expectShown(): Promise<void> {
    await Promise.all([this.#expectFlows(), this.#expectVersions(), this.#expectProfiles()]);
  }

  /** Waits until processes have assigned the flows to their profiles, as the last changes say. */
  async expectAssigned(): Promise<void> {
    const isAssigned = async () => {
      const { agentProfiles } = await this.#listProfiles();
      return agentProfiles.every(({ id, flowIds }) => flowIds.toSorted().join() === this.#flowsOf(id).sort().join());
    };
    await eventually(isAssigned, 'the flows are under their profiles', effectsTimeoutMs);
  }

  async #expectFlows(): Promise<void> {
    const path = `${this.#project}/flows?limit=1000`;
    const { flows } = await this.#client.readAt<{ flows: FlowRecord[] }>(path, this.#position);
    const shown = flows.map(({ id, name }) => [id, name]);
    assert.deepEqual(shown, [...this.#flows], 'the list of flows is not at its position');
  }

  async #expectVersions(): Promise<void> {
    const { versions } = await this.#listVersions();
    const expected = this.#versions.map((id) => [id, id === this.#activeVersion]);
    const shown = versions.map(({ id, isActive }) => [id, isActive]);
    assert.deepEqual(shown, expected, 'the list of versions is not at its position');
  }

  async #expectProfiles(): Promise<void> {
    const { agentProfiles } = await this.#listProfiles();
    const expected = this.#profiles.map((id) => [id, id === this.#defaultProfile]);
    const shown = agentProfiles.map(({ id, isDefault }) => [id, isDefault]);
    assert.deepEqual(shown, expected, 'the list of profiles is not at its position');
    const assigned = agentProfiles.flatMap(({ flowIds }) => flowIds);
    assert.equal(new Set(assigned).size, assigned.length, `a flow is under two profiles: ${assigned}`);
  }

  async #rename(flowId: string): Promise<void> {
    const name = this.#newName();
    await this.#change('PATCH', `/v1/flows/${flowId}`, { name });
    this.#flows.set(flowId, name);
  }

  async #addFlow(): Promise<void> {
    const name = this.#newName();
    this.#flows.set(await this.#change('POST', `${this.#project}/flows`, { name, flowSchema: {} }), name);
  }

  async #addVersion(): Promise<void> {
    this.#versions.push(await this.#change('POST', `${this.#versionedFlow}/versions`, { flowSchema: {} }));
  }

  async #activate(versionId: string): Promise<void> {
    await this.#change('POST', `/v1/flow-versions/${versionId}/activate`);
    this.#activeVersion = versionId;
  }

  async #moveDefault(profileId: string): Promise<void> {
    await this.#replace(profileId, this.#flowsOf(profileId), true);
    this.#defaultProfile = profileId;
  }

  async #assign(flowId: string, profileId: string): Promise<void> {
    await this.#replace(profileId, [flowId], profileId === this.#defaultProfile);
    for (const former of this.#flowsOf(profileId)) this.#profileOf.delete(former);
    this.#profileOf.set(flowId, profileId);
  }

  async #replace(profileId: string, flowIds: ReadonlyArray<string>, isDefault: boolean): Promise<void> {
    await this.#change('PUT', `/v1/agent-profiles/${profileId}`, { ...profileContents, flowIds, isDefault });
  }

  async #change(method: 'POST' | 'PATCH' | 'PUT', path: string, body?: object): Promise<string> {
    const reply = await this.#client.carryOut(method, path, body);
    // A change to what is so already has no position.
    this.#position = reply.headers['switchyard-position'] ?? this.#position;
    return reply.body?.id ?? '';
  }

  get #versionedFlow(): string {
    const [first = ''] = this.#flows.keys();
    return `/v1/flows/${first}`;
  }

  #listVersions(): Promise<{ versions: FlowVersionRecord[] }> {
    return this.#client.readAt(`${this.#versionedFlow}/versions?limit=1000`, this.#position);
  }

  #listProfiles(): Promise<{ agentProfiles: AgentProfileRecord[] }> {
    return this.#client.readAt(`${this.#project}/agent-profiles`, this.#position);
  }

  #flowsOf(profileId: string): string[] {
    return [...this.#profileOf].filter(([, profile]) => profile === profileId).map(([flow]) => flow);
  }

  #newName(): string {
    this.#changes += 1;
    return `Name ${this.#changes}`;
  }

  #anyOf<T>(items: ReadonlyArray<T>): T {
    return items[Math.floor(this.#random() * items.length)] ?? assert.fail('there is nothing to choose from');
  }
}
