import type { Json, JsonObject } from '#shared/json/json.ts';
import type { Client, RawRequest } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

/** The part of an OpenAPI document that tests read. */
export interface Specification extends JsonObject {
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

/** An operation of the specification. */
export interface DocumentedOperation {
  /** Its operationId. */
  readonly name: string;
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly description: JsonObject;
}

/** The operations that a service documents. */
export class DocumentedOperations {
  readonly specification: Specification;
  readonly #client: Client;
  readonly #byName: ReadonlyMap<string, DocumentedOperation>;

  private constructor(client: Client, specification: Specification) {
    this.#client = client;
    this.specification = specification;
    const all = Object.entries(specification.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, description]) => {
        return { name: String(description.operationId), method, path, description };
      }),
    );
    this.#byName = new Map(all.map((operation) => [operation.name, operation]));
  }

  /** Reads the specification of a service. */
  static async of(client: Client): Promise<DocumentedOperations> {
    return new DocumentedOperations(client, expectStatus(await client.get<Specification>('/openapi.json'), 200));
  }

  /** The names of all operations. */
  get names(): ReadonlyArray<string> {
    return [...this.#byName.keys()];
  }

  /** The names of the operations that change something or call a provider. */
  get writes(): ReadonlyArray<string> {
    return [...this.#byName.values()].filter(({ method }) => method !== 'get').map(({ name }) => name);
  }

  /** @throws Error for an unknown name */
  named(name: string): DocumentedOperation {
    const operation = this.#byName.get(name);
    if (operation === undefined) throw new Error(`The specification has no operation ${name}.`);
    return operation;
  }

  /**
   * Calls an operation with the example of its body.
   * @param parameters by their names in the path
   * @param members replace members of the example
   * @returns its answer. @throws AssertionError when it is refused
   */
  async call<T = { readonly id: string }>(
    name: string,
    parameters: Readonly<Record<string, string>> = {},
    members: object = {},
  ): Promise<T> {
    const reply = await this.#client.send<T>(this.requestOf(name, parameters, members));
    return expectStatus(reply, reply.status === 201 ? 201 : 200);
  }

  /** Returns the request that `call` sends. */
  requestOf(name: string, parameters: Readonly<Record<string, string>> = {}, members: object = {}): RawRequest {
    const { method, path, description } = this.named(name);
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, parameter) => parameters[parameter] ?? '');
    const example = exampleOf(description);
    const headers = { 'content-type': 'application/json' };
    return {
      method: method.toUpperCase() as 'POST',
      path: filled,
      ...(example === undefined ? {} : { headers, body: JSON.stringify({ ...example, ...members }) }),
    };
  }
}

function exampleOf(description: JsonObject): JsonObject | undefined {
  const { content } = (description.requestBody ?? {}) as { content?: Record<string, { example?: Json }> };
  return content?.['application/json']?.example as JsonObject | undefined;
}
