import * as E from 'fp-ts/lib/Either.js';
import { isStrict } from '#application/operations/request-headers.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { ignoredMembers } from '#exchange/ignored-members.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import type { ModelRoute, ModelTarget } from '#gateway/config/catalogue.ts';
import { LongTexts } from '#gateway/framing/long-texts.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Conversation, Unsupported } from '#gateway/neutral/conversation.ts';
import { withTakableCalls } from '#gateway/neutral/takable-calls.ts';
import { TranslatedStream } from '#gateway/protocols/neutral-stream.ts';
import { leftOutMessage } from '#gateway/protocols/parsing.ts';
import {
  type ClientProtocol,
  maxTranslatedValues,
  type NativeTarget,
  type ParsedRequest,
  type Protocol,
  type ProviderProtocol,
  type TextRequest,
  type WriterOptions,
  type WrittenRequest,
} from '#gateway/protocols/protocol.ts';
import type { Provider, ResponseTranslator } from '#gateway/providers/provider.ts';
import {
  forwardedHeaders,
  type OutgoingRequest,
  outgoingThrough,
  pickHeaders,
  type Requests,
} from '#gateway/relay/requests.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';

type TextProvider = Provider & Required<Pick<Provider, 'protocols' | 'text'>>;

type ParsedWithoutLongTexts = ParsedRequest & { readonly longTexts: LongTexts };

interface Way {
  readonly target: ModelTarget;
  readonly provider: TextProvider;
  /** The protocol of the translation; null if the request passes as it came. */
  readonly translation: ProviderProtocol | null;
}

/**
 * Only this class decides whether a request passes as it came, because the target speaks the client's protocol, or is
 * translated.
 */
export class TargetRequests implements Requests {
  readonly #call: GatewayCall;
  readonly #protocol: ClientProtocol;
  readonly #request: TextRequest;
  readonly #asksUsage: boolean;
  readonly #keepsText: boolean;
  readonly #forwarded: ReadonlyArray<string>;
  /** The ways to write the request, at most a few: those that give texts. */
  readonly #ways: ReadonlyArray<Way>;
  #parsed: Promise<E.Either<Unsupported, ParsedWithoutLongTexts>> | null = null;
  /** The last request, because a retry on the same target sends the same bytes. */
  #last: {
    readonly target: ModelTarget;
    readonly continueFrom: string | null;
    readonly written: WrittenRequest;
  } | null = null;
  #lastWritten: { readonly target: ModelTarget; readonly written: E.Either<Unsupported, WrittenRequest> } | null = null;

  private constructor(call: GatewayCall, protocol: ClientProtocol, request: TextRequest, route: ModelRoute) {
    this.#call = call;
    this.#protocol = protocol;
    this.#request = request;
    this.#asksUsage = request.isStreamed && route.askUsage;
    this.#keepsText = route.onStreamFailure === 'continue' && request.isContinuable();
    this.#forwarded = forwardedHeaders(call.headers, call.caller.projectId);
    this.#ways = waysOf(call, protocol, request, route);
  }

  /**
   * Prepares the requests, immediately if the first target gets the request as it came.
   * @returns why no target can serve the call, if each would have to translate what it cannot express
   */
  static prepare(
    call: GatewayCall,
    protocol: ClientProtocol,
    request: TextRequest,
    route: ModelRoute,
  ): E.Either<Failure, TargetRequests> | Promise<E.Either<Failure, TargetRequests>> {
    const requests = new TargetRequests(call, protocol, request, route);
    return requests.#passesAtFirst() ? E.right(requests) : requests.#checked();
  }

  canServe(target: ModelTarget): boolean {
    return this.#wayTo(target) !== undefined;
  }

  requestFor(
    target: ModelTarget,
    continueFrom: string | null,
  ): OutgoingRequest | null | Promise<OutgoingRequest | null> {
    const way = this.#wayTo(target);
    if (way === undefined) throw new Error(`${target.id} gives no texts`);
    if (way.translation === null) return this.#asItCame(way.provider, target, continueFrom);
    return this.#translated(way.provider, way.translation, target, continueFrom);
  }

  #wayTo(target: ModelTarget): Way | undefined {
    return this.#ways.find((way) => way.target === target);
  }

  #asItCame(provider: TextProvider, target: ModelTarget, continueFrom: string | null): OutgoingRequest | null {
    if (this.#unsupportedNatively(provider, target) !== null) return null;
    const { body, ignored } = this.#changed(provider, target, continueFrom);
    const { headers, query } = this.#call;
    const { client } = this.#protocol;
    const forwarded =
      client.headers.length === 0 ? this.#forwarded : [...this.#forwarded, ...pickHeaders(client.headers, headers)];
    const request = provider.text({
      path: this.#pathAt(this.#protocol, target),
      query: query === '' ? '' : `?${query}`,
      body,
      streams: this.#request.isStreamed,
      forwarded,
    });
    return withIgnored(outgoingThrough(provider, { request, translator: null }), ignored);
  }

  #changed(provider: TextProvider, target: ModelTarget, continueFrom: string | null): WrittenRequest {
    if (this.#last?.target !== target || this.#last.continueFrom !== continueFrom) {
      const changes = { target: nativeTarget(provider, target), asksUsage: this.#asksUsage, continueFrom };
      this.#last = { target, continueFrom, written: this.#request.changed(changes) };
    }
    return this.#last.written;
  }

  #unsupportedNatively(provider: TextProvider, target: ModelTarget): Unsupported | null {
    return this.#request.unsupportedBy(nativeTarget(provider, target), () => isStrict(this.#call.headers));
  }

  async #translated(
    provider: TextProvider,
    protocol: ProviderProtocol,
    target: ModelTarget,
    continueFrom: string | null,
  ): Promise<OutgoingRequest | null> {
    const written = await this.#write(target, protocol, continueFrom);
    if (E.isLeft(written)) return null;
    const { body, ignored } = written.right;
    const request = provider.text({
      path: this.#pathAt(protocol, target),
      query: '',
      body,
      streams: this.#request.isStreamed,
      forwarded: this.#forwarded,
    });
    const translator = this.#translatorFrom(protocol, target, {
      model: target.model,
      isContinuation: continueFrom !== null,
      tools: await this.#tools(),
    });
    return withIgnored(outgoingThrough(provider, { request, translator }), ignored);
  }

  #pathAt({ path }: Protocol, { model }: ModelTarget): string {
    return path({ model, streams: this.#request.isStreamed });
  }

  async #tools(): Promise<ClientTools> {
    const parsed = await this.#parsed;
    return parsed === null || E.isLeft(parsed) ? new ClientTools([]) : parsed.right.tools;
  }

  #translatorFrom(
    { requiredMember, provider }: ProviderProtocol,
    target: ModelTarget,
    options: WriterOptions,
  ): ResponseTranslator {
    const mustBeObjects = this.#protocol.client.hasArgumentsAsObjects;
    const rules = { tools: options.tools, mustBeObjects };
    return {
      requiredMember,
      interpret: () =>
        new TranslatedStream(
          provider.createReader(target),
          this.#request.createWriter(options),
          rules,
          this.#keepsText,
        ),
      translate: (body, parsed) => {
        const read = parsed === null ? null : provider.readWhole(body, parsed, target);
        const answer = read === null ? null : withTakableCalls(read, rules);
        if (answer === null) return null;
        const { tokens } = answer;
        return { contentType: 'application/json', body: this.#request.writeWhole(answer, options), tokens };
      },
    };
  }

  async #write(
    target: ModelTarget,
    protocol: ProviderProtocol,
    continueFrom: string | null,
  ): Promise<E.Either<Unsupported, WrittenRequest>> {
    if (continueFrom === null && this.#lastWritten?.target === target) return this.#lastWritten.written;
    this.#parsed ??= this.#parse();
    const parsed = await this.#parsed;
    if (E.isLeft(parsed)) return parsed;
    const { conversation, ignored, longTexts } = parsed.right;
    const { size } = this.#request;
    if (size > largeBodyBytes) await turn(currentWorkOwner(), 'body', size);
    const written = E.chain<Unsupported, WrittenRequest, WrittenRequest>((request) =>
      this.#strictly({
        body: longTexts.putInto(request.body),
        ignored: [...ignored, ...request.ignored, ...this.#askingHeaders()],
      }),
    )(protocol.provider.write(continued(conversation, continueFrom), target));
    if (continueFrom === null) this.#lastWritten = { target, written };
    return written;
  }

  async #parse(): Promise<E.Either<Unsupported, ParsedWithoutLongTexts>> {
    const longTexts = new LongTexts();
    const parsed = await this.#request.parse(maxTranslatedValues, longTexts);
    if (E.isRight(parsed)) return E.right({ ...parsed.right, longTexts });
    return 'pointer' in parsed.left ? E.left(parsed.left) : tooLarge;
  }

  #askingHeaders(): ReadonlyArray<string> {
    return this.#protocol.client.askingHeaders.filter((name) => this.#call.headers[name] !== undefined);
  }

  /** Refuses to leave anything out if the client wants that. */
  #strictly(written: WrittenRequest): E.Either<Unsupported, WrittenRequest> {
    const [pointer] = written.ignored;
    if (pointer === undefined || !isStrict(this.#call.headers)) return E.right(written);
    return E.left({ pointer, message: leftOutMessage });
  }

  #passesAtFirst(): boolean {
    const [first] = this.#ways;
    if (first === undefined) return false;
    const { target, provider, translation } = first;
    return translation === null && this.#unsupportedNatively(provider, target) === null;
  }

  async #checked(): Promise<E.Either<Failure, TargetRequests>> {
    const unsupported = await this.#findUnsupported();
    return unsupported === null ? E.right(this) : E.left(unsupportedFailure(unsupported));
  }

  /** Why no target can serve the request: not null if every one needs a protocol that cannot express it. */
  async #findUnsupported(): Promise<Unsupported | null> {
    let unsupported: Unsupported | null = null;
    for (const { target, provider, translation } of this.#ways) {
      if (translation === null) {
        const refused = this.#unsupportedNatively(provider, target);
        if (refused === null) return null;
        unsupported ??= refused;
        continue;
      }
      const written = await this.#write(target, translation, null);
      if (E.isRight(written)) return null;
      unsupported ??= written.left;
    }
    return unsupported;
  }
}

function waysOf(
  { configuration }: GatewayCall,
  protocol: ClientProtocol,
  { mustTranslate }: TextRequest,
  { targets, fallbacks }: ModelRoute,
): ReadonlyArray<Way> {
  const ways: Way[] = [];
  for (const target of [...targets, ...fallbacks]) {
    const provider = configuration.providers.get(target.provider);
    if (provider === undefined || !givesTexts(provider)) continue;
    const asked = protocolFor(target, provider, protocol);
    const passes = asked.name === protocol.name && !mustTranslate;
    ways.push({ target, provider, translation: passes ? null : asked });
  }
  return ways;
}

/** The protocol of the target's entry, else the client's where the provider speaks it, else the provider's first. */
function protocolFor({ protocol }: ModelTarget, { protocols }: TextProvider, client: ClientProtocol): ProviderProtocol {
  const [first] = protocols;
  return protocols.find(({ name }) => name === (protocol ?? client.name)) ?? first;
}

function nativeTarget(
  { hostedTools = false }: TextProvider,
  { model, provider, reasoning }: ModelTarget,
): NativeTarget {
  return { model, provider, reasoning, hostedTools };
}

function withIgnored(outgoing: OutgoingRequest, ignored: ReadonlyArray<string>): OutgoingRequest {
  if (ignored.length === 0) return outgoing;
  return { ...outgoing, ignored: ignoredMembers(ignored.map((pointer) => ({ pointer, message: '' }))) };
}

function givesTexts(provider: Provider): provider is TextProvider {
  return provider.protocols !== undefined && provider.text !== undefined;
}

function continued(conversation: Conversation, continueFrom: string | null): Conversation {
  if (continueFrom === null) return conversation;
  const part = { kind: 'text', text: continueFrom.trimEnd(), pointer: '' } as const;
  return { ...conversation, turns: [...conversation.turns, { role: 'assistant', parts: [part] }] };
}

const tooLarge = E.left({
  pointer: '',
  message: `a body of more than ${maxTranslatedValues} values is not translated for this target`,
});

function unsupportedFailure({ pointer, message }: Unsupported): Failure {
  const detail = `No target of this model can do what the request asks: ${pointer === '' ? '' : `${pointer}: `}${message}.`;
  return failure('unsupported-by-target', detail, { errors: [{ pointer, message }] });
}
