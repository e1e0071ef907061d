import { IsIP, IsNotEmpty, IsOptional, IsString } from 'class-validator';

/** Whose keys: a tenant (with user or API key id), or an address; on one route, of one policy or all. */
export class CallerQuery {
  @IsString()
  @IsNotEmpty()
  route: string;

  @IsOptional()
  @IsNotEmpty()
  tenant?: string;

  @IsOptional()
  @IsNotEmpty()
  user?: string;

  @IsOptional()
  @IsNotEmpty()
  apiKey?: string;

  @IsOptional()
  @IsIP()
  ip?: string;

  @IsOptional()
  @IsNotEmpty()
  policy?: string;
}
