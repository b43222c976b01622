#!/bin/sh
# Looks up one address: sh curl.sh POSTCODE HUISNUMMER [TOEVOEGING]. Prints the response, which is JSON.
# Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment.
set -eu
: "${BAG_ADRES_URL:?Set BAG_ADRES_URL and BAG_ADRES_KEY.}" "${BAG_ADRES_KEY:?Set BAG_ADRES_URL and BAG_ADRES_KEY.}"

# A file with the key often ends with a line end. curl prints a header that has one inside, so such a key is not sent.
key=$(printf '%s' "$BAG_ADRES_KEY" | tr -s '[:space:]' ' ')
key=${key# } key=${key% }
case ${key#bagadres_} in
"$key" | '' | *[!A-Za-z0-9_.-]*) echo 'BAG_ADRES_KEY is not an API key.' >&2 && exit 1 ;;
esac

# The key is passed on standard input, because other users of the machine can read the arguments of a program.
# curl retries on 429, 500 and 503 and waits for as long as Retry-After says.
printf 'header = "X-API-Key: %s"\n' "$key" |
  curl --config - --silent --show-error --fail-with-body --max-time 10 \
    --retry 2 --retry-connrefused --retry-max-time 30 \
    --get "${BAG_ADRES_URL%/}/v1/address" \
    --data-urlencode "postcode=${1:-}" \
    --data-urlencode "huisnummer=${2:-}" \
    --data-urlencode "toevoeging=${3:-}"
echo
