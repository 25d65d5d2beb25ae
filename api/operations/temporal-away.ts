import { GatewayError } from '../../domain/gateway-error.ts';

/** For a call that only Temporal could have carried out. */
export function temporalAway(): GatewayError {
  return new GatewayError('dependency_unavailable', 'Temporal cannot be reached. Nothing was done; try again.', {
    retryAfterSeconds: 5,
  });
}
