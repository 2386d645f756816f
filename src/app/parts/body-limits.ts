import type { Limits } from '#app/config.ts';
import type { ArrivalLimits } from '#exchange/body.ts';
import type { GatewayLimits } from '#gateway/gateway-call.ts';

/** Returns the time limits of a request's body. */
export function arrivalLimits({ idleTimeoutMs, uploadTimeoutMs }: Limits): ArrivalLimits {
  return { idleMs: idleTimeoutMs, totalMs: uploadTimeoutMs };
}

/** Returns the size limits and time limits of the body of a gateway call. */
export function gatewayLimits(limits: Limits): GatewayLimits {
  const { maxJsonBytes, maxGatewayValues, maxAudioBytes } = limits;
  return { maxJsonBytes, maxJsonValues: maxGatewayValues, maxAudioBytes, arrival: arrivalLimits(limits) };
}
