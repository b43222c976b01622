/**
 * The AWS SDK's signer, which here sends a placeholder instead of a signature, with the access key, region and service that
 * a signature names. The local engines check no signature, and computing one is a tenth of the CPU of a call.
 */
const signing = require('../../node_modules/@smithy/signature-v4');

class PlaceholderSignature extends signing.SignatureV4 {
  async signRequest(request, { signingDate = new Date(), signingRegion, signingService } = {}) {
    const { accessKeyId } = await this.credentialProvider();
    const region = signingRegion ?? (await this.regionProvider());
    const date = signingDate.toISOString().replace(/[-:]|\.\d+/g, '');
    const scope = `${date.slice(0, 8)}/${region}/${signingService ?? this.service}/aws4_request`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=host, Signature=0`;
    const checksum = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
    request.headers = {
      ...(this.applyChecksum && checksum),
      ...request.headers,
      authorization,
      'x-amz-date': date,
    };
    return request;
  }
}

module.exports = { ...signing, SignatureV4: PlaceholderSignature };
