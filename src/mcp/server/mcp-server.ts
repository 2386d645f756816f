import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import * as E from 'fp-ts/lib/Either.js';
import type { InvokeAs } from '#application/operations/invoke.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { getPrompt, listedPrompt, visiblePrompts } from '#mcp/prompts/prompt.ts';
import { prompts } from '#mcp/prompts/prompts.ts';
import { type AskOperation, createAskOperation, maxMcpPageBytes } from '#mcp/request/ask-operation.ts';
import type { McpRequest } from '#mcp/request/mcp-request.ts';
import { completeArgument } from '#mcp/resources/complete-argument.ts';
import {
  createResourceCatalogue,
  fixedUri,
  type McpResource,
  readResource,
  resourceType,
} from '#mcp/resources/resource-catalogue.ts';
import { createToolCatalogue, type OperationTool, passes, visibleTools } from '#mcp/tools/tool-catalogue.ts';
import { failureResult, successResult } from '#mcp/tools/tool-result.ts';
import type { Logger } from '#shared/logging/logger.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { pageOf } from './list-page.ts';

export interface McpServerDependencies {
  readonly routes: ReadonlyArray<OperationRoute>;
  readonly invokeAs: InvokeAs;
  readonly logger: Logger;
}

const instructions =
  'Switchyard keeps flows of conversational agents, their versions, phone numbers, agent profiles, templates and ' +
  'instances. Each tool is one operation of its REST API. Ids begin with c. Before a change, read the resource and ' +
  'send its revision as ifMatch; try it with dryRun; send an idempotencyKey with whatever must not happen twice. A list ends at 256 KiB: ' +
  'call again with its nextCursor as cursor. A refused call names its code and what to do.';

/** Makes a server for each request, because a connection is a single request. */
export class McpServers {
  readonly #tools: ReadonlyArray<OperationTool>;
  readonly #resources: ReadonlyArray<McpResource>;
  readonly #ask: AskOperation;
  readonly #logger: Logger;

  /** @throws Error if no tool can be made of an operation */
  constructor({ routes, invokeAs, logger }: McpServerDependencies) {
    this.#tools = createToolCatalogue(routes);
    this.#resources = createResourceCatalogue(this.#tools);
    this.#ask = createAskOperation(invokeAs);
    this.#logger = logger;
  }

  get resourceNames(): ReadonlySet<string> {
    return new Set(this.#tools.flatMap(({ resource }) => resource ?? []));
  }

  create(mcpRequest: McpRequest): Server {
    const server = new Server(
      { name: 'switchyard', title: 'Switchyard', version: packageJson.version },
      { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} }, instructions },
    );
    this.#serveTools(server, mcpRequest);
    this.#serveResources(server, mcpRequest);
    this.#servePrompts(server, mcpRequest);
    this.#serveCompletions(server, mcpRequest);
    return server;
  }

  #serveTools(server: Server, mcpRequest: McpRequest): void {
    server.setRequestHandler('tools/list', ({ params }) => {
      const listed = visibleTools(this.#tools, mcpRequest.request.caller, mcpRequest.filter).map(({ tool }) => tool);
      const { items, nextCursor } = pageOf(listed, params?.cursor, maxMcpPageBytes);
      return { tools: [...items], ...(nextCursor === undefined ? {} : { nextCursor }) };
    });
    server.setRequestHandler('tools/call', async ({ params }) => {
      const found = this.#tools.find((each) => each.tool.name === params.name && passes(each, mcpRequest.filter));
      if (found === undefined) throw unknown(`There is no tool ${JSON.stringify(params.name)} on this connection.`);
      return this.#call(mcpRequest, found);
    });
  }

  async #call(mcpRequest: McpRequest, { route }: OperationTool) {
    const { request, wantsWholeText } = mcpRequest;
    const { id: requestId, caller } = request;
    const { operation } = route;
    const started = performance.now();
    const outcome = await this.#ask(mcpRequest, route, mcpRequest.toolArguments);
    const ms = Math.round((performance.now() - started) * 100) / 100;
    const code = E.isLeft(outcome) ? outcome.left.code : 'ok';
    this.#logger.info({ tool: operation.name, code, ms, requestId, keyId: caller.keyId }, 'tool call');
    if (E.isLeft(outcome)) return failureResult(outcome.left, requestId);
    return successResult(operation, outcome.right, wantsWholeText);
  }

  #serveResources(server: Server, mcpRequest: McpRequest): void {
    const visible = this.#visibleResources(mcpRequest);
    server.setRequestHandler('resources/list', () => ({
      resources: visible
        .filter(({ parameters }) => parameters.length === 0)
        .map((resource) => ({ uri: fixedUri(resource), ...describedResource(resource) })),
    }));
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: visible
        .filter(({ uriTemplate }) => uriTemplate.includes('{'))
        .map((resource) => ({ uriTemplate: resource.uriTemplate, ...describedResource(resource) })),
    }));
    server.setRequestHandler('resources/read', ({ params }) =>
      readResource(this.#ask, mcpRequest, visible, params.uri),
    );
  }

  #servePrompts(server: Server, mcpRequest: McpRequest): void {
    const resources = this.#visibleResources(mcpRequest);
    const visible = visiblePrompts(prompts, resources);
    server.setRequestHandler('prompts/list', () => ({ prompts: visible.map(listedPrompt) }));
    server.setRequestHandler('prompts/get', ({ params }) => {
      const found = visible.find(({ name }) => name === params.name);
      if (found === undefined) throw unknown(`There is no prompt ${JSON.stringify(params.name)} for this key.`);
      return getPrompt(this.#ask, mcpRequest, resources, found, params.arguments ?? {});
    });
  }

  #serveCompletions(server: Server, mcpRequest: McpRequest): void {
    const visible = visibleTools(this.#tools, mcpRequest.request.caller, mcpRequest.filter);
    server.setRequestHandler('completion/complete', async ({ params: { ref, argument, context } }) => {
      const completed =
        ref.type === 'ref/prompt'
          ? this.#completedByPrompt(ref.name, argument.name)
          : this.#completedByTemplate(mcpRequest, ref.uri, argument.name);
      if (completed === null) return { completion: { values: [], hasMore: false } };
      const known = context?.arguments ?? {};
      const request = { ...completed, typed: argument.value, known };
      return { completion: { ...(await completeArgument(this.#ask, mcpRequest, visible, request)) } };
    });
  }

  #completedByPrompt(name: string, argument: string) {
    const prompt = prompts.find((each) => each.name === name);
    if (prompt === undefined) throw unknown(`There is no prompt ${JSON.stringify(name)}.`);
    return prompt.arguments.find((each) => each.name === argument)?.completedBy ?? null;
  }

  #completedByTemplate(mcpRequest: McpRequest, uri: string, argument: string) {
    const template = this.#visibleResources(mcpRequest).find(({ uriTemplate }) => pathOf(uriTemplate) === pathOf(uri));
    if (template === undefined) throw unknown(`There is no resource template ${JSON.stringify(uri)}.`);
    if (!template.parameters.includes(argument)) return null;
    return { path: template.tool.route.operation.http.path, parameter: argument };
  }

  #visibleResources({ request, filter }: McpRequest): ReadonlyArray<McpResource> {
    const tools = new Set(visibleTools(this.#tools, request.caller, filter));
    return this.#resources.filter(({ tool }) => tools.has(tool));
  }
}

function describedResource({ tool, title, description }: McpResource) {
  return { name: tool.tool.name, title, description, mimeType: resourceType };
}

function unknown(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** The path without the query parameters, which clients may leave out. */
function pathOf(uriTemplate: string): string {
  return uriTemplate.split('{?', 1)[0] ?? '';
}
