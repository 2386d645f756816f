import type { Client, Reply } from '#test/support/service/client.ts';

/** Flows of one project. */
export interface Flows {
  readonly projectId: string;
  readonly ids: ReadonlyArray<string>;
}

/** The contents of a posted version: about two kilobytes. */
export const newVersion = { flowSchema: { nodes: [{ id: 'start', say: 'x'.repeat(1_960) }] } };

/** Requests on flows, sent to one node. Each throws an Error if it is refused. */
export class FlowRequests {
  readonly #client: Client;
  readonly #flows: Flows;

  constructor(client: Client, flows: Flows) {
    this.#client = client;
    this.#flows = flows;
  }

  /** Reads a flow. @param number chooses the flow */
  async get(number: number): Promise<void> {
    accepted(await this.#client.get(`/v1/flows/${this.#id(number)}`));
  }

  /** Reads the versions of a flow. */
  async listVersions(number: number): Promise<void> {
    accepted(await this.#client.get(`/v1/flows/${this.#id(number)}/versions`));
  }

  /** Posts a version of two kilobytes. @returns its id */
  async postVersion(number: number): Promise<string> {
    return accepted(await this.#client.post<{ id: string }>(`/v1/flows/${this.#id(number)}/versions`, newVersion)).id;
  }

  /** Posts a flow with a first version of two kilobytes. */
  async postFlow(number: number): Promise<void> {
    const flow = { name: `Flow ${number}`, ...newVersion };
    accepted(await this.#client.post(`/v1/projects/${this.#flows.projectId}/flows`, flow));
  }

  /** Makes a version the active one. */
  async activate(versionId: string): Promise<void> {
    accepted(await this.#client.post(`/v1/flow-versions/${versionId}/activate`));
  }

  #id(number: number): string {
    const { ids } = this.#flows;
    return ids[number % ids.length] ?? '';
  }
}

function accepted<Body>({ status, body, text }: Reply<Body>): Body {
  if (status >= 300) throw new Error(`A request was answered by ${status}: ${text}`);
  return body;
}
