import { Type } from 'class-transformer';
import { ArrayNotEmpty, IsArray, IsIn, IsNotEmpty, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { IsCredentialField, IsHttpUrl, WholeNumber } from './constraints.js';

const ASYMMETRIC = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA'] as const;
const ALGORITHM = `one of ${ASYMMETRIC.join(', ')}: keys that verify must not be able to sign, so HS* and none are out`;

export class ApiKeysOptions {
  /** The request field that carries the key. */
  @IsCredentialField()
  readonly header: string = 'x-api-key';

  /** Digests of the keys, relative to the edge document. */
  @IsString({ message: 'the path of the key file' })
  @IsNotEmpty({ message: 'the path of the key file' })
  readonly file!: string;
}

export class JwksOptions {
  @IsOptional()
  @IsHttpUrl()
  readonly url?: string;

  @IsOptional()
  @IsString({ message: 'the path of a JWKS file' })
  @IsNotEmpty({ message: 'the path of a JWKS file' })
  readonly file?: string;
}

export class ClaimsOptions {
  @IsString({ message: 'the name of the claim that holds the tenant' })
  @IsNotEmpty({ message: 'the name of the claim that holds the tenant' })
  readonly tenant!: string;

  @IsOptional()
  @IsString({ message: 'the name of the claim that holds the user' })
  @IsNotEmpty({ message: 'the name of the claim that holds the user' })
  readonly user?: string;
}

export class JwtOptions {
  @IsString({ message: 'the issuer (iss)' })
  @IsNotEmpty({ message: 'the issuer (iss)' })
  readonly issuer!: string;

  @IsString({ message: 'the audience (aud)' })
  @IsNotEmpty({ message: 'the audience (aud)' })
  readonly audience!: string;

  @IsObject({ message: 'a mapping with url or file' })
  @ValidateNested()
  @Type(() => JwksOptions)
  readonly jwks!: JwksOptions;

  @IsArray({ message: ALGORITHM })
  @ArrayNotEmpty({ message: ALGORITHM })
  @IsIn(ASYMMETRIC, { each: true, message: ALGORITHM })
  readonly algorithms!: string[];

  @IsObject({ message: 'a mapping with tenant and, if wanted, user' })
  @ValidateNested()
  @Type(() => ClaimsOptions)
  readonly claims!: ClaimsOptions;
}

export class IdentityOptions {
  @IsOptional()
  @ValidateNested({ message: 'a mapping with header and file' })
  @Type(() => ApiKeysOptions)
  readonly apiKeys?: ApiKeysOptions;

  @IsOptional()
  @IsArray({ message: 'a list of issuers' })
  @ValidateNested({ each: true, message: 'a mapping with issuer, audience, jwks, algorithms and claims' })
  @Type(() => JwtOptions)
  readonly jwt?: JwtOptions[];

  /** How many leading bits of an IPv6 address make one caller. */
  @WholeNumber(32, 128, 'a prefix length')
  readonly ipv6Prefix: number = 64;
}
