import type { Limits } from '#app/config.ts';
import type { ArrivalLimits } from '#application/bodies/body-source.ts';
import type { GatewayLimits } from '#gateway/gateway-call.ts';

/** How long the body of a request may take. */
export function arrivalLimits({ idleTimeoutMs, uploadTimeoutMs }: Limits): ArrivalLimits {
  return { idleMs: idleTimeoutMs, totalMs: uploadTimeoutMs };
}

/** How large the body of a gateway call may be, and how long it may take. */
export function gatewayLimits(limits: Limits): GatewayLimits {
  const { maxJsonBytes, maxGatewayValues, maxAudioBytes } = limits;
  return { maxJsonBytes, maxJsonValues: maxGatewayValues, maxAudioBytes, arrival: arrivalLimits(limits) };
}
