/** The key of the environment, which stands for the gateway where nobody has stored another. */
export const GATEWAY_CREDENTIAL = 'gateway';
