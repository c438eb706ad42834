export * from './administration';
export { ApiKeyGuard } from './api-key.guard';
export { API_KEY_SCHEME, BEARER_SCHEME, Public, RequiresKey, RequiresScope } from './auth.decorators';
export { AuthModule } from './auth.module';
export { Authenticator } from './authenticator';
export type { Caller, KeyHolder, Scope } from './caller';
export { KeyDirectory } from './key-directory';
