// OpenSSL 3, with functions in place of the macros and the variadic calls that Swift cannot import.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <time.h>

// The text in a memory BIO; it belongs to the BIO.
static inline long isthmus_bio_contents(BIO *bio, char **text) { return BIO_get_mem_data(bio, text); }

static inline EVP_PKEY *isthmus_generate_p256(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }

static inline EVP_PKEY *isthmus_public_key(const char *kind, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
    if (context != NULL && parameters != NULL && EVP_PKEY_fromdata_init(context) == 1)
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
    EVP_PKEY_CTX_free(context);
    return key;
}

// The key at an uncompressed point (65 bytes), or NULL if that is not on the curve.
static inline EVP_PKEY *isthmus_p256_public_key(const unsigned char *point, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"P-256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    return isthmus_public_key("EC", parameters);
}

// The key of a modulus and an exponent, both with the highest byte first.
static inline EVP_PKEY *isthmus_rsa_public_key(
    const unsigned char *modulus, int modulus_count, const unsigned char *exponent, int exponent_count) {
    BIGNUM *n = BN_bin2bn(modulus, modulus_count, NULL), *e = BN_bin2bn(exponent, exponent_count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (n != NULL && e != NULL && builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY *key = isthmus_public_key("RSA", parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

// The state of HMAC-SHA-256 after the key went in, or NULL. In C because the parameters keep pointers to their names.
static inline EVP_MAC_CTX *isthmus_hmac_sha256(const unsigned char *key, size_t count) {
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_MAC_init(context, key, count, parameters) == 1) return context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

// Never asks at a terminal for the pass phrase of an encrypted key: such a key is refused.
static inline int isthmus_no_pass_phrase(char *text, int size, int writing, void *context) {
    (void)text, (void)size, (void)writing, (void)context;
    return -1;
}

static inline EVP_PKEY *isthmus_read_private_key(BIO *pem) {
    return PEM_read_bio_PrivateKey(pem, NULL, isthmus_no_pass_phrase, NULL);
}

static inline int isthmus_write_private_key(BIO *pem, EVP_PKEY *key) {
    return PEM_write_bio_PKCS8PrivateKey(pem, key, NULL, NULL, 0, NULL, NULL);
}

// What every TLS connection of ours keeps to. A peer that ends without close_notify counts as closed: the protocols
// above have lengths of their own, so a cut-off message is noticed there.
static inline int isthmus_tls_set_common(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 64 << 10);
    SSL_CTX_set_default_passwd_cb(context, isthmus_no_pass_phrase);
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline int isthmus_tls_send_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

// Until when the peer's certificate holds, seconds since 1970; -1 without one.
static inline int64_t isthmus_tls_peer_not_after(const SSL *ssl) {
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    struct tm time;
    int64_t seconds = -1;
    if (certificate != NULL && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1) seconds = timegm(&time);
    X509_free(certificate);
    return seconds;
}

static void isthmus_tls_note_not_after(const SSL *ssl, int where, int result) {
    (void)result;
    if (where & SSL_CB_HANDSHAKE_DONE)
        SSL_CTX_set_app_data(SSL_get_SSL_CTX(ssl), (void *)(intptr_t)isthmus_tls_peer_not_after(ssl));
}

// For a library that keeps its connection to itself and shows only the context, which is that connection's alone: the
// context remembers what the peer's certificate says.
static inline void isthmus_tls_watch_peer(SSL_CTX *context) {
    SSL_CTX_set_info_callback(context, isthmus_tls_note_not_after);
}

// As isthmus_tls_peer_not_after, of the last handshake; 0 before the first one.
static inline int64_t isthmus_tls_noted_not_after(const SSL_CTX *context) {
    return (int64_t)(intptr_t)SSL_CTX_get_app_data(context);
}

static inline void isthmus_x509v3_context(X509V3_CTX *context, X509 *issuer, X509 *subject) {
    X509V3_set_ctx(context, issuer, subject, NULL, NULL, 0);
    X509V3_set_ctx_nodb(context);
}
